"""What an endpoint's error means: minutes pass, hours do not, wrong keys and addresses never do."""

from __future__ import annotations

import json

import pytest

from shopsim.chat import ChatError
from shopsim.pipeline.annotate.refusal import Refusal, judge, stopping


def error(
    status: int | None, detail: str = "", *, passing: bool = False, wait: float | None = None
) -> ChatError:
    return ChatError("http://x: HTTP", status=status, detail=detail, passing=passing, retry_after=wait)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_trying_again_does_not_mend_stops(status: int) -> None:
    refused = error(status)
    assert judge(refused) is Refusal.STOP
    assert str(stopping(refused)).count("\n") == 0
    assert str(stopping(refused)).startswith("http://x: HTTP. ")


@pytest.mark.parametrize(
    ("given", "meaning"),
    [
        (error(None, passing=True), Refusal.PASSING),
        (error(503, passing=True), Refusal.PASSING),
        (error(408, passing=True), Refusal.PASSING),
        (error(None), Refusal.BAD_ANSWER),
        (error(400), Refusal.THIS_REQUEST),
        (error(422), Refusal.THIS_REQUEST),
    ],
)
def test_other_errors(given: ChatError, meaning: Refusal) -> None:
    assert judge(given) is meaning


@pytest.mark.parametrize(
    "detail",
    [
        "",
        "Too Many Requests",
        "Request was rejected due to rate limiting. Details:TPM limit reached.",
        '{"error":{"message":"Rate limit reached for m on requests per min (RPM): Limit 3, Used 3"}}',
        '{"error": {"message": "You exceeded your current quota, check your plan and billing", '
        '"details": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}}',
        json.dumps({"message": "每分钟请求数超过限制"}),
    ],
)
def test_minutes_pass(detail: str) -> None:
    assert judge(error(429, detail, passing=True)) is Refusal.RATE
    assert judge(error(429, detail, passing=True, wait=600)) is Refusal.RATE


@pytest.mark.parametrize(
    "detail",
    [
        "RPH limit reached",
        "Details: RPD limit reached.",
        "TPD limit reached",
        "tokens per day (TPD): Limit 100000",
        "You have used up your hourly limit",
        "daily quota",
        '{"error": {"type": "insufficient_quota"}}',
        '{"error": {"message": "You exceeded your current quota, please check your plan"}}',
        '{"quotaId": "GenerateRequestsPerDayPerProject"}',
        json.dumps({"message": "账户余额不足"}),
        json.dumps({"message": "已达到每日请求上限"}),
        json.dumps({"message": "当日额度已用完"}, ensure_ascii=False),
    ],
)
def test_hours_days_and_money_do_not(detail: str) -> None:
    refused = error(429, detail, passing=True)
    assert judge(refused) is Refusal.STOP
    assert "quota" in str(stopping(refused))


def test_a_long_wait_is_no_matter_of_minutes() -> None:
    refused = error(429, "Too Many Requests", passing=True, wait=3600)
    assert judge(refused) is Refusal.STOP
    assert "Retry-After 3,600 s" in str(stopping(refused))
