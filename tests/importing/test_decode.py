"""Encodings: UTF-8 always, else what the file says, else a guess, in which Western text comes
first."""

import gzip
from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import decode, decoded
from lab.importing.formats.read import read_collection


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("latin-1", "Voilà la définition de la mise à jour"),
        ("latin-1", "L'été, la pièce d'étanchéité doit être vérifiée"),
        ("cp1252", "Die Größe der Übertragung ist für ältere Geräte möglich."),
        ("latin-1", "La presión máxima de la válvula es señalada"),
        ("latin-1", "Perché la pompa è così rumorosa? Più tardi sarà"),
        ("cp1252", "Temperature 40 °C ± 2 “quoted” – done"),
        ("latin-1", "café"),
        ("cp1250", "Zażółć gęślą jaźń. Ciśnienie spadło poniżej wartości. Sprawdzić łożysko."),
        ("cp1251", "Насос протекает, проверьте уплотнение и подшипник. Замените прокладку."),
        ("cp1253", "Ελέγξτε τη φλάντζα της αντλίας και αντικαταστήστε το ρουλεμάν."),
        ("gb18030", "水泵漏水，请检查密封圈。阀门噪声过大，电机过热停机。"),
        ("big5", "水泵漏水，請檢查密封圈。閥門噪聲過大，電機過熱停機。"),
        ("shift_jis", "ポンプが水漏れしています。シールを確認してください。"),
        ("utf-16", "naïve 水"),
        ("utf-32", "naïve 水"),
    ],
)
def test_other_encodings_are_guessed_and_named_with_the_file(
    tmp_path: Path, encoding: str, text: str
) -> None:
    path, into = tmp_path / "a.txt", Collection()
    path.write_bytes(text.encode(encoding))
    assert decode(path, into) == text
    [finding] = into.findings
    assert (finding.place, finding.rule) == (str(path), "encoding")


def test_what_a_file_says_of_itself_comes_before_a_guess() -> None:
    into = Collection()
    assert decoded(Path("a"), "ш".encode("koi8-r"), into, "koi8-r") == "ш"
    assert into.findings[0].message.endswith("read as koi8-r, as the file says")
    assert decoded(Path("a"), "é".encode("latin-1"), into, "no such encoding") == "é"


def test_files_that_are_cut_or_no_text_are_refused(tmp_path: Path) -> None:
    for name, content in (
        ("a.gz", b"not packed"),
        ("b.gz", gzip.compress(b"text" * 1000)[:-20]),
        ("c.txt", b"\x00\xff\xfe\x00\x81"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CorpusError, match=name):
            decode(tmp_path / name, Collection())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("检查泵的泄漏情况", "gb18030"),
        ("펌프의 누출을 확인하십시오.", "euc_kr"),
        ("ポンプの漏れを確認する。弁を交換してください。", "euc_jp"),
        ("ポンプの漏れを確認する", "shift_jis"),
        ("檢查泵的洩漏情況，並更換密封圈", "big5"),
        ("Насос протекает у уплотнения, замените его", "koi8_r"),
        ("Насос протекает у уплотнения, замените его", "cp1251"),
    ],
)
def test_short_texts_of_other_scripts_are_read_in_their_encoding(
    text: str, encoding: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    read = read_collection(tmp_path)
    assert read.documents[0].document.text == text
    assert [finding.rule for finding in read.findings] == ["encoding"]
