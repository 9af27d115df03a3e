"""Which systems there are, and where: descriptors in manifests."""
