"""What has to change so that the shipped machine keeps its properties, and the document's.

``machines`` has what is new in the tables; ``instances`` and ``runs`` say what is done differently, ``properties`` what can be promised in sharper words
then, and ``variant`` puts the changes together and says why. Letters and names are those of ``shipped``.
"""

from .variant import REPAIRED

__all__ = ["REPAIRED"]
