"""Verifies an OCI image archive and lays its layers into a folder: image.py ARCHIVE FOLDER."""

import gzip
import hashlib
import io
import json
import sys
import tarfile

archive, root = sys.argv[1:]
with tarfile.open(archive) as files:
    content = {m.name: files.extractfile(m).read() for m in files.getmembers() if m.isfile()}


def blob(d):
    data = content["blobs/" + d["digest"].replace(":", "/")]
    assert len(data) == d["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == d["digest"], d
    return data


assert json.loads(content["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
(entry,) = json.loads(content["index.json"])["manifests"]
manifest = json.loads(blob(entry))
config = json.loads(blob(manifest["config"]))
assert config["config"]["Entrypoint"] == ["/usr/bin/mine"] and len(config["rootfs"]["diff_ids"]) == len(manifest["layers"])
for layer, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"]):
    data = gzip.decompress(blob(layer))
    assert "sha256:" + hashlib.sha256(data).hexdigest() == diff
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        assert all(m.uid == m.gid == 0 for m in files.getmembers())
        files.extractall(root, filter="tar")
(docker,) = json.loads(content["manifest.json"])
assert docker["Layers"] == ["blobs/" + d["digest"].replace(":", "/") for d in manifest["layers"]]
print(f"{archive}: {len(manifest['layers'])} layers, {config['architecture']}")
