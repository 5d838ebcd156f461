"""How good masks and probabilities are: the bundled samples, peers, the paper's rivals, and the paper's experiment."""

import csv
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from .desk import ROOT, first_tables, program, run, table, target

METHODS = "unary,mf,bp,fbp,cut,hop,defaults"
SETS = ("coopcut", "gsc")
# What compare_peers.py calls a row, and what the table does.
PEERS = {
    "lfield defaults": "**lfield defaults**",
    "unaries alone": "lfield's unaries alone",
    "dense CRF": "dense CRF on the same unaries",
    "dense CRF, colour unaries": "dense CRF on the colour mixtures alone",
    "GrabCut": "GrabCut from the same unaries",
    "GrabCut, colour unaries": "GrabCut from the colour mixtures alone",
    "random walker": "random walker",
}
# What people would use without lfield.
USUAL = {
    "lfield defaults": "**lfield**",
    "random walker": "random walker (scikit-image)",
    "GrabCut, colour unaries": "GrabCut (OpenCV)",
    "dense CRF, colour unaries": "dense CRF (pydensecrf2)",
}


def samples(desk):
    """The four bundled scenes: anybody can repeat this."""
    rows = []
    with tempfile.TemporaryDirectory() as out:
        photos = sorted(path.with_suffix("").with_suffix(".png") for path in (ROOT / "data").glob("*.truth.png"))
        listed = Path(out) / "list.csv"
        with listed.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["image", "scribbles", "truth"])
            writer.writerows([photo, photo.with_suffix(".scribbles.png"), photo.with_suffix(".truth.png")] for photo in photos)
        run([program(), "batch", "--manifest", listed, "-o", out, "-q"])
        for photo in photos:
            found = next(Path(out).rglob(f"{photo.stem}.report.json"))
            report = json.loads(found.read_text())
            line = next(line for line in map(json.loads, (Path(out) / "batch.ndjson").open()) if Path(line["image"]).stem == photo.stem)
            score = line["scores"]["unlabelled"] if "unlabelled" in line["scores"] else line["scores"]
            rows.append([
                photo.stem, f"{report['input']['width']}×{report['input']['height']}", f"{score['auc']:.4f}", f"{score['iou']:.3f}",
                report["solve"]["iterations"], "yes" if report["map"]["proved_optimal"] else "no",
            ])
    return table(["scene", "size", "AUC", "IoU", "sweeps", "mask proved optimal"], rows)


def peers(desk):
    """Table of all rows, and a short one of what people would use otherwise."""
    for name in SETS:
        desk.photo_set(name)
    printed = run([sys.executable, "scripts/compare_peers.py", "--data", desk.data, "--sets", ",".join(SETS), "--lfield", program()], cwd=ROOT)
    found = [{row[0]: row[1:] for row in rows} for rows in first_tables(printed)]
    versions = next(line for line in reversed(printed.splitlines()) if line.strip())
    head = ["", *(cell for name in SETS for cell in (f"{name} AUC", f"{name} IoU", "seconds"))]
    full = table(head, [[label, *(cell for rows in found for cell in rows[name])] for name, label in PEERS.items()])
    short = table(
        ["", *(f"{name}: AUC / IoU" for name in SETS)],
        [[label, *(" / ".join(rows[name][:2]) for rows in found)] for name, label in USUAL.items()],
    )
    return {"peers": f"{full}\n\n{versions}.", "peers-short": short}


def priors(desk):
    """Simulated networks, one table for each set. The peers' scores are kept in target/, so that only lfield runs again."""
    for name in SETS:
        desk.photo_set(name)
    kept = target() / "priors.jsonl"
    printed = run([sys.executable, "scripts/compare_priors.py", "--data", desk.data, "--lfield", program(), "--cache", kept], cwd=ROOT)
    return re.sub(r"^### (.*)$", r"**\1**", printed.strip(), flags=re.M)


def methods(desk):
    """All methods on lfield's own evidence and default weights."""
    found = {name: {row["method"]: row for row in evaluate(desk.photo_set(name), "--methods", METHODS)["methods"]} for name in SETS}

    def cells(row):
        mean = row["summary"]["unlabelled"]["mean"]
        return [f"{mean['auc']:.4f} / {mean['iou']:.3f}", f"{mean['brier']:.4f}", f"{mean['overconfident']:.2f}"]

    head = ["", *(cell for name in SETS for cell in (f"{name}: AUC / IoU", "Brier", "sure and wrong"))]
    rows = [[row["label"], *(cell for name in SETS for cell in cells(found[name][key]))] for key, row in found[SETS[0]].items()]
    return table(head, rows)


def paper(desk):
    """The paper's experiment, and its ROC curves as a picture."""
    with tempfile.TemporaryDirectory() as out:
        found = evaluate(desk.photo_set("coopcut"), "--paper", "--methods", METHODS, out=out)
        shutil.copy(Path(out) / "roc.svg", ROOT / "docs/pictures/roc.svg")
        printed = {row[0]: row for row in first_tables((Path(out) / "table.md").read_text())[0]}
    rows = []
    for row in found["methods"]:
        mean, deviation = (row["summary"]["unlabelled"][key] for key in ("mean", "sd"))
        of_paper = [re.sub(r" ±.*", "", cell) for cell in printed[row["label"]][4:6]]
        one = f"{row['at_best_setting']['auc']:.3f}" if row["settings"] > 1 else ""
        rows.append([row["label"], f"{mean['auc']:.3f} ± {deviation['auc']:.3f}", f"{mean['auct']:.3f}", f"{mean['iou']:.2f}", one, *of_paper])
    return table(["", "AUC", "AUCT", "IoU", "AUC, one setting", "AUC, paper", "AUCT, paper"], rows)


def evaluate(folder, *extra, out=None):
    with tempfile.TemporaryDirectory() as scratch:
        out = out or scratch
        run([program(), "evaluate", folder, "-o", out, "-q", *extra])
        return json.loads((Path(out) / "results.json").read_text())
