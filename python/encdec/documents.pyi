from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .translation.documents import *
