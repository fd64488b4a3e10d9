"""What is private leaves a question; what is asked stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.usage.masking import mask

MASKED = {
    "mail li.na@example.com please": "mail [email] please",
    "我的邮箱是li.na@example.com怎么改": "我的邮箱是[email]怎么改",
    "почта ivan@пример.рф": "почта [email]",
    "a.b@c.de, x@y.z": "[email], [email]",
    "call +49 (0)30 123456-78 now": "call [phone] now",
    "ring 555-0199": "ring [phone]",
    "call (415) 555-2671!": "call [phone]!",
    "手机13812345678打不通": "手机[phone]打不通",
    "电话-13812345678": "电话-[phone]",
    "tel:13812345678": "tel:[phone]",
    "电话：0755-8765 4321。": "电话：[phone]。",
    "since 2024-05-01 13812345678": "since 2024-05-01 [phone]",
    "１３８１２３４５６７８": "[number]",
    "身份证11010519491231002X丢了": "身份证[number]丢了",
    "card 4111 1111 1111 1111": "card [number]",
    "order 20240117123456 where": "order [number] where",
}
KEPT = (
    "error E-4012 and PN-7731000-B",
    "since 2024-05-01 12:30, in 1990-1995",
    "1,200,000 euro for 123456 parts",
    "v2.3.1 at 10.5 bar, 12:30",
    "a@b",
    "错误码E-4012表示什么",
)


@pytest.mark.parametrize("text", MASKED)
def test_private(text: str) -> None:
    assert mask(text) == MASKED[text]


@pytest.mark.parametrize("text", KEPT)
def test_not_private(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=80))
def test_masked_twice_is_masked_once(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@given(st.text("0123456789", min_size=7, max_size=40), st.text(" ,.;你好()", max_size=5))
def test_no_run_of_seven_digits_is_left(digits: str, beside: str) -> None:
    assert digits not in mask(f"{beside}{digits}{beside}")


@pytest.mark.parametrize("unit", ["a", "1 ", "1-", "a@", "(1", "1-1a", ".a", "-"])
def test_long_lines_take_linear_time(unit: str) -> None:
    mask(unit * 100_000)
