"""Invented brands, shops and user ids. Syllables are combined by chance; no real company is meant."""

from __future__ import annotations

from collections.abc import Callable

from shopsim.catalog.sample.dice import Dice

__all__ = ["NameMaker"]

_FIRST = "岚禾泊砚汀簌栖澹谧笙芃沅茗绾屿朔霁漪珩蓁"
_SECOND = "柚澜舟岫麓禾野汐竺川桐蔚庐泽苔枫鹿雀杉萤"
_THIRD = "屿集记坊里社匠研造间巷台局仓库季序司"
_LATIN_START = ("Vel", "Tor", "Nuv", "Quor", "Zel", "Mirv", "Brax", "Osk", "Lumq", "Fenr", "Yov", "Kesp")
_LATIN_END = ("ora", "ixo", "umi", "andu", "eqa", "ylo", "orrin", "avix", "ettu", "ombi")
_TRIES = 20
_TINY_SHOPS = (
    "小铺",
    "杂货铺",
    "的小店",
    "工厂店",
    "百货店",
    "优选店",
    "批发店",
    "源头厂家",
    "生活馆",
    "集合店",
)


class NameMaker:
    """Gives out names; brands are unique within one catalogue."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._used: set[str] = set()

    def brand(self) -> str:
        """A new brand: three Han characters, now and then with a Latin name before it."""
        dice = self._dice
        name = self._unused(lambda: dice.pick(_FIRST) + dice.pick(_SECOND) + dice.pick(_THIRD))
        if dice.chance(0.15):
            return f"{dice.pick(_LATIN_START)}{dice.pick(_LATIN_END)}/{name}"
        return name

    def marker(self) -> str:
        """A property that no other product has. Five characters, so that the fuzzy ratio of two
        markers stays under the threshold even when they share four of them."""
        dice = self._dice
        return self._unused(lambda: dice.pick(_SECOND) + dice.pick(_FIRST) + dice.pick(_SECOND)) + "联名"

    def shop(self, brand: str, endings: tuple[str, ...]) -> str:
        """The shop that sells ``brand``: its own, or a small one with a name of its own."""
        dice = self._dice
        if dice.chance(0.7):
            return brand.rpartition("/")[2] + dice.pick(endings)
        return dice.pick(_FIRST) + dice.pick(_SECOND) + dice.pick(_TINY_SHOPS)

    def user_id(self) -> str:
        """A user id of letters and digits."""
        dice = self._dice
        digits = "0123456789abcdef"
        return self._unused(lambda: "u_" + "".join(dice.pick(digits) for _ in range(10)))

    def model_code(self) -> str:
        """A model number such as ``KJ-482F``, different from all others in more than one place."""
        dice = self._dice
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
        return self._unused(
            lambda: (
                f"{dice.pick(letters)}{dice.pick(letters)}-{dice.between(10, 99)}{dice.pick(letters)}"
                f"{dice.between(1, 9)}"
            )
        )

    def _unused(self, make: Callable[[], str]) -> str:
        """The first name of ``make`` that was not given out before; small name spaces fall back to
        a number at the end, so that any catalogue size works."""
        for _ in range(_TRIES):
            if (name := make()) not in self._used:
                break
        else:
            name = f"{make()}{len(self._used)}"
        self._used.add(name)
        return name
