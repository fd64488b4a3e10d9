#!/bin/sh
# Real files for compare.py: Debian's documentation packages and the source distributions of readers
# and writers of documents, fetched through apt-get and pip into a folder outside git.
# usage: fetch.sh FOLDER [PIP]
set -eu
folder=$1
pip=${2:-.venv/bin/pip}
mkdir -p "$folder/packages" "$folder/sources" "$folder/files"

for package in apache2-doc autoconf-doc bash-doc bind9-doc cmake-doc debian-faq debian-handbook \
    debian-policy debian-reference-en developers-reference exim4-doc-html git-doc gnuplot-doc \
    libcurl4-doc libxml2-doc maint-guide octave-doc postgresql-doc-15 python3.11-doc r-doc-html \
    sqlite3-doc zsh-doc
do
    [ -d "$folder/files/$package" ] && continue
    (cd "$folder/packages" && apt-get download -q "$package") || continue
    dpkg-deb -x "$folder/packages/$package"_*.deb "$folder/files/$package"
done

for source in PyDocX python-docx docx2html docx-revisions docx-plus docx2python pypdf pdfplumber \
    pdfminer.six pikepdf tabula-py openpyxl pyexcel-xlsx tablib csvkit frictionless xlsx2csv \
    pyexcel agate pytablereader messytables
do
    [ -d "$folder/files/$source" ] && continue
    rm -rf "$folder/sources/$source"
    "$pip" download -q --disable-pip-version-check --no-binary :all: --no-deps \
        -d "$folder/sources/$source" "$source" || continue
    mkdir "$folder/files/$source"
    for archive in "$folder/sources/$source"/*.tar.gz
    do
        [ -e "$archive" ] && tar -xzf "$archive" -C "$folder/files/$source"
    done
done
