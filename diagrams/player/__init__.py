"""A run as one page of HTML that plays it step by step."""
