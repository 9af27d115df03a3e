"""A report as pages of HTML: an overview of all verdicts, a page for each property, findings, documents and pictures."""
