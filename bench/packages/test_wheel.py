"""The wheel, used from pandas, Polars and DuckDB: make test-packages runs it in a fresh environment."""

import builtins
import inspect
import io
import os
import pathlib
import sys
import threading
import warnings

import bitextmine
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest
from bitextmine import _program

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
    assert 0.2 < frame["prob"].min() < frame["prob"].max() <= 1 and frame.filter(polars.col("keep")).height == frame.height
    best = duckdb.sql("select src_text, tgt_text, prob from bitext order by prob desc, src_text limit 3").fetchall()
    assert [row[2] for row in best] == frame["prob"].sort(descending=True)[:3].to_list()
    assert duckdb.sql("select count(*) from bitext where src_lang = 'de' and tgt_lang = 'en'").fetchall() == [(bitext.num_rows,)]


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


def test_one_sentence_is_one_vector():
    one = bitextmine.encode("Guten Morgen.", "de")
    assert one.ndim == 1 and (one == bitextmine.encode(["Guten Morgen."], "de")[0]).all()


def test_columns_of_every_kind_are_sentences(tmp_path):
    text = ["Guten Morgen.", "Zwölf Prozent.", "Die Gemeinde."]
    file = tmp_path / "text"
    file.write_text("\n".join(text) + "\n", "utf-8")
    want = bitextmine.encode(text, "de")
    for kind in (
        tuple(text), numpy.array(text), numpy.array(text, dtype=object), pyarrow.array(text), pyarrow.chunked_array([text[:1], text[1:]]),
        pyarrow.table({"x": text})["x"], pandas.Series(text), pandas.DataFrame({"x": text})["x"], polars.Series(text),
        polars.DataFrame({"x": text})["x"], (sentence for sentence in text), file,
    ):
        assert (bitextmine.encode(kind, "de") == want).all(), type(kind)
    for wrong, why in (
        (pandas.DataFrame({"x": text}), "one column"), (polars.DataFrame({"x": text}), "one column"), (pyarrow.table({"x": text}), "one column"),
        ({"x": text}, "list of str"), (b"Guten Morgen.", "list of str"), (["Guten Morgen.", None], "sentence 1 is missing"),
        (pandas.Series(["Guten Morgen.", float("nan")]), "sentence 1 is missing"), ([1], "sentence 0 is a int"),
    ):
        with pytest.raises(TypeError, match=why):
            bitextmine.encode(wrong, "de")
    with pytest.raises(ValueError, match="no sentence"):
        bitextmine.encode([], "de")


def test_neighbours_of_vectors_of_any_length():
    rng = numpy.random.default_rng(1)
    source, target = rng.normal(size=(30, 16)) * rng.uniform(0.1, 20, size=(30, 1)), rng.normal(size=(40, 16)) * 5
    found = bitextmine.neighbours(source, target, k=40)
    unit = [x / numpy.linalg.norm(x, axis=1, keepdims=True) for x in (source, target)]
    assert numpy.allclose(found.src_cosines, -numpy.sort(-(unit[0] @ unit[1].T), axis=1), atol=1e-5)
    with pytest.raises(bitextmine.Error, match="row 1 is all zeros"):
        bitextmine.neighbours([[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0]])
    with pytest.raises(ValueError, match="n, dim"):
        bitextmine.neighbours([1.0, 0.0], [[1.0, 0.0]])


def test_vectors_of_another_program():
    german, english = sentences("de"), sentences("en")
    vectors = bitextmine.encode(german, "de"), bitextmine.encode(english, "en")
    pairs = bitextmine.mine(german, english, src="de", tgt="en", src_emb=vectors[0], tgt_emb=vectors[1].astype("float64"))
    assert pairs.num_rows > 100


def test_little_text_lowers_k(tmp_path):
    with pytest.warns(bitextmine.MineWarning, match="k is lowered to 2"):
        pairs = bitextmine.mine(["Guten Morgen.", "Zwölf Prozent."], ["Good morning.", "Twelve percent."], src="de", tgt="en", keep_below=True)
    assert pairs.num_rows > 0
    german, english = ["Guten Morgen.", "Zwölf Prozent.", "Nein."], ["Good morning.", "Twelve percent."]
    for _ in range(2):  # the second call goes on with the first one's k
        with pytest.warns(bitextmine.MineWarning, match="k is lowered to 2"):
            again = bitextmine.mine(german[:2], english, src="de", tgt="en", out=tmp_path / "kept", keep_below=True)
        assert again.num_rows == pairs.num_rows
    with pytest.raises(bitextmine.Error, match="other settings"):
        bitextmine.mine(german[:2], english, src="de", tgt="en", out=tmp_path / "kept", k=4)
    with pytest.warns(bitextmine.MineWarning, match="k is lowered to 2"):  # to 3 first, which the other side has not
        pairs = bitextmine.mine(german, english, src="de", tgt="en", keep_below=True)
    assert pairs.num_rows > 0
    with pytest.raises(bitextmine.Error, match="k = 3"):
        bitextmine.mine(["Guten Morgen."], ["Good morning.", "No."], src="de", tgt="en", k=3, scorer="none")


def test_warnings_are_pythons():
    with pytest.warns(bitextmine.MineWarning, match="not trained on") as caught:
        bitextmine.mine(sentences("de"), sentences("en"), src="de", tgt="mt")
    assert any(one.filename == __file__ for one in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bitextmine.mine(sentences("de"), sentences("en"), src="de", tgt="en")


def test_filter_export_explain(bitext, tmp_path):
    for table in (bitext, bitext.to_pandas(), polars.from_arrow(bitext)):
        filtered = bitextmine.filter(table, config="strict")
        assert filtered.num_rows == bitext.num_rows and 0 < sum(filtered["keep"].to_pylist()) < bitext.num_rows
    assert "exported" in bitextmine.export(filtered, tmp_path / "pairs.tmx", columns=["score"])
    assert "x-score" in (tmp_path / "pairs.tmx").read_text("utf-8")
    bitextmine.mine(TEXT / "de.txt", TEXT / "en.txt", src="de", tgt="en", out=tmp_path / "mined")
    assert "cosine" in bitextmine.explain(0, bitext=tmp_path / "mined" / "de-en.parquet")
    with pytest.raises(bitextmine.Error, match="does not hold the sentence"):
        bitextmine.explain("- Ja.", "- Yes.", run=tmp_path / "mined")


def test_languages_and_signatures():
    assert {"de", "en"} <= set(bitextmine.langs()) and bitextmine.__version__
    with pytest.raises(ValueError, match="no encoder"):
        bitextmine.langs("nothing")
    for name in ("mine", "encode", "neighbours", "filter", "export", "explain"):
        assert len(inspect.signature(getattr(bitextmine, name)).parameters) > 4
    assert (pathlib.Path(bitextmine.__file__).parent / "py.typed").exists()


def test_progress_is_a_bar_in_a_notebook(monkeypatch):
    import tqdm.auto

    shown = []

    class Bar:
        def __init__(self, total, desc, unit):
            self.n = 0
            shown.append(desc)

        def update(self, by):
            self.n += by

        def close(self):
            pass

    monkeypatch.setattr(builtins, "get_ipython", lambda: None, raising=False)
    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    bitextmine.mine(TEXT / "de.txt", TEXT / "en.txt", src="de", tgt="en")
    assert {"encode", "search", "match"} <= set(shown)


def test_what_a_terminal_draws_is_not_kept(monkeypatch):
    """Finished lines are kept, whole whatever the parts that they are read in, and nothing that a bar drew over."""
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    drawn = "\x1b[2K\rencode   3/9 sentences, 2/s  33% [===>      ]" * 100_000
    ended = "\x1b[2K\rencode   9/9 sentences, 2/s 100% [==========]"
    text = f"time=1 level=WARN msg=first\r\n{drawn}{ended}\r\nmine: Zwölf\r\n{drawn}killed".encode()
    messages, (terminal, program) = [], os.pipe()

    def draw():
        for at in range(0, len(text), 4093):
            os.write(program, text[at:at + 4093])
        os.close(program)

    drawing = threading.Thread(target=draw)
    drawing.start()
    _program._copy(terminal, messages, None)
    drawing.join()
    assert messages == ["time=1 level=WARN msg=first", "mine: Zwölf", "encode   3/9 sentences, 2/s  33% [===>      ]killed"]
    assert shown.getvalue().encode() == text


def test_errors_are_the_programs():
    with pytest.raises(bitextmine.Error, match="nothing.txt") as error:
        bitextmine.mine("nothing.txt", TEXT / "en.txt", src="de", tgt="en")
    assert error.value.code == 2
    with pytest.raises(ValueError, match="line break"):
        bitextmine.encode(["one\ntwo"], "en")
