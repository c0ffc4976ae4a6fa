"""Option values that many kinds share."""

from __future__ import annotations

from typing import Final

__all__ = ["COLOURS", "DEVICE_COLOURS", "EMOJI", "FABRIC_COLOURS", "PACKS", "SIZES"]

COLOURS: Final = (
    "月光白 樱花粉 雾霾蓝 薄荷绿 奶油黄 高级灰 曜石黑 燕麦色 香芋紫 复古绿 珊瑚橘 焦糖棕 天空蓝 酒红色 米白色"
)
DEVICE_COLOURS: Final = "珍珠白 曜石黑 星空灰 复古绿 奶油白 冰川蓝 樱花粉 香槟金 钛灰色 暮光紫"
FABRIC_COLOURS: Final = (
    "黑色 白色 藏青色 卡其色 浅灰色 深灰色 军绿色 酒红色 雾蓝色 杏色 咖啡色 奶白色 粉紫色 牛仔蓝"
)
SIZES: Final = "S M L XL 2XL 3XL 4XL"
PACKS: Final = "1件装 2件装 3件装 5件装 10件装"

# Every one of these is outside the word characters, so that losing it to "?" keeps the words whole.
EMOJI: Final = ("🌸", "🔥", "✨", "🎁", "🌿", "🍓", "🐻", "🌊", "☁️", "🍃", "🎀", "🧡")
