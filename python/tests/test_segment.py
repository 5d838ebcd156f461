"""Photos: the same bits as the program, sessions, and what a result offers."""

from __future__ import annotations

import io
import json

import lfield
import numpy as np
import pytest
from conftest import ROOT, SAMPLES, program, read, read_strokes
from PIL import Image

#: What a report says about files and clocks.
OF_FILES = ("tool", "fingerprint", "input", "timing", "outputs")


def comparable(report: dict) -> dict:
    """A report without what depends on files and clocks."""
    report = {key: value for key, value in report.items() if key not in OF_FILES}
    report["solve"] = {key: value for key, value in report["solve"].items() if key != "seconds"}
    report["parameters"] = {
        key: value
        for key, value in report["parameters"].items()
        if key not in ("unary", "prior", "superpixels", "scribble_format", "emit", "paper")
    }
    # A reader's remarks name the file, and are worded without it here.
    of_readers = (".png", ".npy", "half a step")
    report["warnings"] = [warning for warning in report["warnings"] if not any(word in warning for word in of_readers)]
    return report


def assert_equal(result: lfield.Result, folder, stem: str) -> None:
    assert np.array_equal(result.mask, np.asarray(Image.open(folder / f"{stem}.mask.png")) == 255)
    assert result.marginals.tobytes() == np.load(folder / f"{stem}.marginals.npy").tobytes()
    assert (-result.log_odds).tobytes() == np.load(folder / f"{stem}.s.npy").tobytes()
    if (folder / f"{stem}.base.npy").exists():
        assert result.base.tobytes() == np.load(folder / f"{stem}.base.npy").tobytes()
    if (folder / f"{stem}.bound.npy").exists():
        assert result.bound.tobytes() == np.load(folder / f"{stem}.bound.npy").tobytes()
    assert np.array_equal(result.overlay(), np.asarray(Image.open(folder / f"{stem}.overlay.png")))
    assert np.array_equal(result.cutout(), np.asarray(Image.open(folder / f"{stem}.cutout.png")))
    for number, layer in enumerate(result.superpixels, 1):
        # More regions than a 16-bit picture can hold are an array.
        picture, array = (folder / f"{stem}.superpixels-{number}.{kind}" for kind in ("png", "npy"))
        assert np.array_equal(layer, np.asarray(Image.open(picture)) if picture.exists() else np.load(array))
    report = json.loads((folder / f"{stem}.report.json").read_text())
    assert comparable(report) == comparable(result.report)
    # Every file of `save` is a file of the program, byte for byte.
    saved = result.save(folder / "saved", stem)
    assert saved
    for path in saved:
        if path.suffix in (".png", ".npy"):
            assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("sample", "options"),
    [
        ("beetle", {}),
        ("lamp", {"beta": 2, "gamma": 0.5, "theta": "auto"}),
        ("poppy", {"temperature": "fit", "layer": [(5, 5, 10)]}),
        ("tree", {"method": "mean-field", "max_iterations": 30}),
        ("lamp", {"box": (20, 30, 380, 580), "bias": 0.5}),
        ("beetle", {"paper": True, "beta": 1, "gamma": 0.1}),
    ],
)
def test_the_bits_are_those_of_the_program(tmp_path, sample, options) -> None:
    photo, strokes = ROOT / f"data/{sample}.png", ROOT / f"data/{sample}.scribbles.png"
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name == "layer":
            words += [word for layer in value for word in (flag, ",".join(map(str, layer)))]
        elif name == "box":
            words += [flag, ",".join(map(str, value))]
        else:
            words += [flag] if value is True else [flag, str(value)]
    done = program("segment", photo, "--scribbles", strokes, "-o", tmp_path, "--emit", "all", *words)
    assert done.returncode == 0, done.stderr
    result = lfield.segment(read(photo), read_strokes(strokes), emit="all", **options)
    assert_equal(result, tmp_path, sample)


def test_costs_probabilities_and_superpixels_are_the_programs(tmp_path) -> None:
    photo = ROOT / "data/beetle.png"
    image = read(photo)
    rng = np.random.default_rng(3)
    prior = rng.random(image.shape[:2]).astype(np.float32)
    prior[0, 0], prior[0, 1] = 0, 1
    maps = [np.add.outer(np.arange(image.shape[0]) // 9 * 100, np.arange(image.shape[1]) // 9)]
    np.save(tmp_path / "prior.npy", prior)
    np.save(tmp_path / "unary.npy", rng.normal(size=image.shape[:2]))
    np.save(tmp_path / "map.npy", maps[0])
    (tmp_path / "alone.png").write_bytes(photo.read_bytes())
    for name, given in (("prior", prior), ("unary", np.load(tmp_path / "unary.npy"))):
        out = tmp_path / name
        done = program(
            *("segment", tmp_path / "alone.png", f"--{name}", tmp_path / f"{name}.npy"),
            *("--superpixels", tmp_path / "map.npy", "-o", out, "--emit", "all"),
        )
        assert done.returncode == 0, done.stderr
        result = lfield.segment(image, **{name: given}, superpixels=maps, emit="all")
        assert_equal(result, out, "alone")
    assert lfield.refine(image, prior, superpixels=maps).tobytes() == np.load(tmp_path / "prior/alone.marginals.npy").tobytes()
    both = lfield.refine(image, np.stack([1 - prior, prior]), superpixels=maps)
    assert both.shape == (2, *prior.shape) and np.allclose(both.sum(axis=0), 1)


def test_twenty_photos_have_the_programs_bits(tmp_path, shared) -> None:
    names = sorted(path.stem for path in (shared / "gsc/scribbles").iterdir())[::4][:20]
    assert len(names) == 20
    for name in names:
        image = read(next((shared / "gsc/images").glob(f"{name}.*")))
        # JPEG decoders differ in the last bit; a PNG is the same picture to everybody.
        photo, strokes = tmp_path / f"{name}.png", next((shared / "gsc/scribbles").glob(f"{name}.*"))
        Image.fromarray(image).save(photo)
        done = program("segment", photo, "--scribbles", strokes, "-o", tmp_path, "--emit", "all")
        assert done.returncode == 0, done.stderr
        assert_equal(lfield.segment(image, read_strokes(strokes), emit="all"), tmp_path, name)


def test_a_warm_session_agrees_within_the_certificates(scene) -> None:
    image, labels = scene
    session = lfield.Session(image, tolerance=1e-7)
    session.set_labels(labels)
    first = session.solve()
    assert first.marginals.tobytes() == lfield.segment(image, labels, tolerance=1e-7).marginals.tobytes()
    labels[24, 46:60] = 1
    session.set_labels(labels)
    session.set_options(beta=2)
    warm, cold = session.solve(), lfield.segment(image, labels, tolerance=1e-7, beta=2)
    bound = warm.report["marginals"]["error_bound"] + cold.report["marginals"]["error_bound"]
    assert np.abs(warm.log_odds - cold.log_odds).max() <= bound
    assert warm.report["parameters"]["beta"] == 2
    session.set_options(beta=None)
    assert session.solve().report["parameters"]["beta"] == first.report["parameters"]["beta"]


def test_a_refused_change_changes_nothing(scene) -> None:
    image, labels = scene
    session = lfield.Session(image, beta=3)
    session.set_labels(labels)
    for change in ({"beta": -1}, {"betta": 1}, {"damping": 0.5}):
        with pytest.raises((lfield.Error, TypeError)):
            session.set_options(**change)
    with pytest.raises(lfield.Error):
        session.set_labels(labels[:5])
    assert session.options == {"beta": 3}
    assert session.solve().marginals.tobytes() == lfield.segment(image, labels, beta=3).marginals.tobytes()


def test_images_of_any_layout_are_read_where_they_lie(scene) -> None:
    image, labels = scene
    expected = lfield.segment(image, labels).marginals.tobytes()
    padded = np.zeros((96, 128, 5), np.uint8)
    padded[::2, ::2, :3] = image
    unaligned = np.frombuffer(b"x" + (image / 255).astype(np.float64).tobytes(), np.uint8)[1:].view(np.float64)
    variants = {
        "strided": padded[::2, ::2, :3],
        "fortran": np.asfortranarray(image),
        "reversed twice": image[::-1, ::-1][::-1, ::-1],
        "float32": (image / 255).astype(np.float32),
        "float64": image / 255,
        "big endian": (image / 255).astype(">f8"),
        "unaligned": unaligned.reshape(image.shape),
        "list": image.tolist() and np.array(image.tolist(), np.uint8),
    }
    for name, variant in variants.items():
        before = variant.copy()
        variant.flags.writeable = False
        assert lfield.segment(variant, labels).marginals.tobytes() == expected, name
        assert np.array_equal(variant, before), name
    grey = image[..., 0]
    three = lfield.segment(np.stack([grey] * 3, -1), labels).marginals
    for variant in (grey, grey[..., None], grey / 255):
        assert np.array_equal(lfield.segment(variant, labels).marginals, three)


def test_strokes_in_any_form_are_the_same(scene) -> None:
    image, labels = scene
    expected = lfield.segment(image, labels).marginals.tobytes()
    for kind in (np.int8, np.int64, ">i4", np.uint16):
        assert lfield.segment(image, labels.astype(kind)).marginals.tobytes() == expected
    assert lfield.segment(image, fg=labels == 2, bg=labels == 1).marginals.tobytes() == expected
    assert lfield.segment(image, fg=(labels == 2) * 255, bg=labels == 1).marginals.tobytes() == expected
    assert lfield.segment(image, labels, threads=1).marginals.tobytes() == expected
    assert lfield.segment(image, labels, threads=3).marginals.tobytes() == expected


def test_a_result_shows_itself(scene) -> None:
    image, labels = scene
    result = lfield.segment(image, labels)
    assert repr(result).startswith("<lfield.Result 64×48, object 1") and "\n" not in repr(result)
    page = result._repr_html_()
    assert page.count("data:image/png;base64,") == 2 and "probability" in page
    shown = np.asarray(Image.open(io.BytesIO(result._repr_png_())))
    assert np.array_equal(shown, result.overlay())
    # Arrays are the user's own.
    result.marginals[:] = 7
    assert result._answer.marginals().max() <= 1


def test_a_soft_cutout_is_the_file(scene, tmp_path) -> None:
    image, labels = scene
    result = lfield.segment(image, labels, matte="soft", emit="cutout")
    (path,) = result.save(tmp_path)
    assert np.array_equal(result.cutout(soft=True), np.asarray(Image.open(path)))
    assert not np.array_equal(result.cutout(), result.cutout(soft=True))


def test_progress_is_heard_and_may_stop_the_solve(scene) -> None:
    image, labels = scene
    heard: list[tuple[int, float]] = []
    lfield.segment(image, labels, progress=lambda sweeps, gap: heard.append((sweeps, gap)))
    assert heard and heard == sorted(heard, key=lambda step: step[0])
    lfield.segment(image, labels, progress=True)

    def stop(sweeps: int, gap: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lfield.segment(image, labels, tolerance=1e-9, progress=stop)
    lfield.segment(image, labels)


def test_the_samples_come_out_right() -> None:
    for sample in SAMPLES:
        truth = np.asarray(Image.open(ROOT / f"data/{sample}.truth.png").convert("L"))
        result = lfield.segment(read(ROOT / f"data/{sample}.png"), read_strokes(ROOT / f"data/{sample}.scribbles.png"))
        inside, scored = truth == 255, truth != 128
        union = (result.mask | inside) & scored
        assert (result.mask & inside & scored).sum() > 0.5 * union.sum(), sample
