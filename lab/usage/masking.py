"""Masking: e-mail addresses, phone numbers and long numbers leave a question before anything else
reads it."""

import regex

MASKS = EMAIL, PHONE, NUMBER = "[email]", "[phone]", "[number]"
# A number of so many digits is long; where only blanks part it, so many: `200 400 80` are sizes.
LONG, LONG_BY_BLANKS = 7, 9

# A local part may be in any script but Chinese, Japanese and Korean, which stand beside an address
# without a blank (我的邮箱是li@example.com).
LETTER = r"[[\w]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]]"
LOCAL = rf"(?:{LETTER}|[.%+'-])"
# Between two digits of one number; never more than two of them, as in `+49 (0)30`.
MARK = r"[ \-‐-–./()（）]"
PRIVATE = regex.compile(
    rf"(?P<email>(?<!{LOCAL}){LOCAL}++[@＠](?:{LETTER}|-)++(?:\.(?:{LETTER}|-)++)+)"
    # Dates and spans of years are kept, with a time or a further word behind them.
    r"|(?P<kept>(?<!\d)(?:\d{4}(?P<mark>[-/.])\d{1,2}(?P=mark)\d{1,2}"
    r"|(?:19|20)\d\d\s?[-–—/~至到]\s?(?:19|20)\d\d)(?!\d))"
    # Digits that no word goes on with: `PN-7731000` is a name.
    rf"|(?<!{LETTER})(?<![{LETTER}--[\d]][-_])(?P<digits>[+＋]?[(（]?\d(?:{MARK}{{0,2}}\d)+[Xx]?)"
    rf"(?!{LETTER})",
    regex.V1,
)
DIGIT = regex.compile(r"\d")


def mask(text: str) -> str:
    """The text with `[email]`, `[phone]` and `[number]` in place of e-mail addresses and of numbers
    of seven digits or more (of nine where only blanks part the digits), in any script's digits. A
    number with a plus or marks between its digits, or with the eleven digits of a Chinese mobile,
    is called a phone number. Dates, spans of years, amounts with commas and numbers that are part
    of a name with letters stay."""
    return str(PRIVATE.sub(_masked, text))


def _masked(found: "regex.Match[str]") -> str:
    if found["email"]:
        return EMAIL
    if found["kept"]:
        return str(found[0])
    digits = found["digits"]
    count, marks = len(DIGIT.findall(digits)), DIGIT.sub("", digits).strip("Xx")
    blanks = bool(marks) and not marks.strip()
    if count < (LONG_BY_BLANKS if blanks else LONG):
        return str(digits)
    mobile = not marks and count == 11 and digits.startswith("1")
    return PHONE if (marks or mobile) and count <= 15 else NUMBER
