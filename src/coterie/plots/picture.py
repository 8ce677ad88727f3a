"""A figure that shows itself in a notebook, whatever matplotlib is set up to do there, and that sets nothing up itself."""

import io

from matplotlib.figure import Figure


class Picture(Figure):
    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=self.dpi)
        return image.getvalue()
