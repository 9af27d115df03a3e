"""Every error message of the tool: small cases that trigger each, and the page of the docs that is made of them."""
