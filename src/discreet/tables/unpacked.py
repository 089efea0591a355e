"""Numbers of Arrow as numpy's, from their buffers: Arrow's own `to_numpy` imports pandas, which takes half a second."""

from typing import Any

import numpy as np
import numpy.typing as npt


def unpacked(array: Any, absent: float) -> npt.NDArray[Any]:
    """A column of floats or whole numbers; `absent` stands where it is null. Without nulls it may be a view.

    >>> import pyarrow as pa
    >>> unpacked(pa.array([1.5, None, 2.5]), -1.0).tolist(), unpacked(pa.array([4, 5, 6]).slice(1), -1).tolist()
    ([1.5, -1.0, 2.5], [5, 6])
    """
    if hasattr(array, "chunks"):
        pieces = [unpacked(piece, absent) for piece in array.chunks]
        if len(pieces) != 1:
            return np.concatenate([np.empty(0, array.type.to_pandas_dtype()), *pieces])
        return pieces[0]
    there, data = array.buffers()
    kind, stop = np.dtype(array.type.to_pandas_dtype()), array.offset + len(array)
    found = np.frombuffer(data, kind, stop)[array.offset :] if len(array) else np.empty(0, kind)
    if not array.null_count:
        return found
    bits = np.unpackbits(np.frombuffer(there, np.uint8), bitorder="little")[array.offset : stop]
    return np.where(bits == 1, found, np.asarray(absent, kind))
