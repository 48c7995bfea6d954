"""What compiles kernels in Triton to PTX, and writes the bundles that the program has."""
import gzip
import json
import os

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def compiled(name, kernel, types, multiples, capability, warps, stages, **constants):
    """A kernel for GPUs of a compute capability.

    types has the types of its parameters that are not int32. Pointers, and the parameters that `multiples` names, are
    multiples of 16.
    """
    signature = {a: "constexpr" if a in constants else types.get(a, "i32") for a in kernel.arg_names}
    aligned = [i for i, a in enumerate(kernel.arg_names) if signature[a].startswith("*") or a in multiples]
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs={(i,): [["tt.divisibility", 16]] for i in aligned})
    built = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps, "num_stages": stages, "ptx_version": 80})
    # The last two parameters are scratch memory, of which these kernels need none.
    assert not built.metadata.global_scratch_size and not built.metadata.profile_scratch_size
    ptx = "\n".join(line for line in built.asm["ptx"].splitlines() if line.strip() and not line.strip().startswith("//"))
    return {"name": name, "entry": kernel.fn.__name__, "capability": capability, "threads": 32 * warps,
            "shared": built.metadata.shared, "ptx": ptx + "\n"}


def write(path, bundle):
    """Writes the bundle; the same kernels give the same bytes."""
    data = json.dumps(bundle, indent=1).encode()
    with open(path, "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))
    for k in bundle:
        print(k["name"], k["capability"], "shared", k["shared"], "ptx", len(k["ptx"]))
