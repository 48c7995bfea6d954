"""The wheel, used from Polars and DuckDB: make test-packages runs it in a fresh environment."""

import pathlib

import bitextmine
import duckdb
import numpy
import polars
import pyarrow
import pytest

TEXT = pathlib.Path(__file__).parents[2] / "fixtures" / "text"


def sentences(language):
    return [line.split("\t", 1)[1] for line in (TEXT / f"{language}.txt").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def bitext():
    return bitextmine.mine(TEXT / "de.txt", TEXT / "en.txt", src="de", tgt="en")


def test_polars_and_duckdb_read_the_bitext(bitext):
    assert isinstance(bitext, pyarrow.Table) and bitext.num_rows > 100
    frame = polars.from_arrow(bitext)
    assert frame.height == bitext.num_rows
    assert frame["prob"].min() >= 0.5 and frame.filter(polars.col("keep")).height == frame.height
    best = duckdb.sql("select src_text, tgt_text, prob from bitext order by prob desc, src_text limit 3").fetchall()
    assert [row[2] for row in best] == frame["prob"].sort(descending=True)[:3].to_list()
    assert duckdb.sql("select count(*) from bitext where src_lang = 'de' and tgt_lang = 'en'").fetchone() == (bitext.num_rows,)


def test_sentences_in_memory_give_the_bitext_of_files(bitext):
    again = bitextmine.mine(sentences("de"), iter(sentences("en")), src="de", tgt="en")
    for column in ("src_text", "tgt_text", "prob"):
        assert again[column].to_pylist() == bitext[column].to_pylist()


def test_settings_and_a_kept_run(bitext, tmp_path):
    margins = bitextmine.mine(TEXT / "de.txt", TEXT / "en.txt", src="de", tgt="en", out=tmp_path / "mined", scorer="none", threshold=1.2, keep_below=True)
    assert margins["prob"].null_count == margins.num_rows > bitext.num_rows
    assert (tmp_path / "mined" / "de-en.parquet").exists()


def test_encode_and_neighbours(bitext):
    german, english = ["Guten Morgen.", "Die Gemeinde\thaushaltet."], ["The municipality.", "Good morning.", "Twelve percent."]
    vectors = bitextmine.encode(german, "de"), bitextmine.encode(english, "en")
    assert vectors[0].dtype == numpy.float32 and numpy.allclose(numpy.linalg.norm(vectors[1], axis=1), 1, atol=1e-4)
    found = bitextmine.neighbours(*vectors, k=4)
    cosines = vectors[0] @ vectors[1].T
    order = numpy.argsort(-cosines, axis=1)
    assert (found.src_rows[:, :3] == order).all() and (found.src_rows[:, 3] == -1).all()
    assert numpy.allclose(found.src_cosines[:, :3], numpy.take_along_axis(cosines, order, 1), atol=1e-6)
    assert (found.tgt_rows[:, :2] == numpy.argsort(-cosines.T, axis=1)).all()
    assert found.src_rows.dtype == numpy.int32


def test_errors_are_the_programs():
    with pytest.raises(bitextmine.Error, match="nothing.txt") as error:
        bitextmine.mine("nothing.txt", TEXT / "en.txt", src="de", tgt="en")
    assert error.value.code == 2
    with pytest.raises(ValueError, match="line break"):
        bitextmine.encode(["one\ntwo"], "en")
