"""The report of ``verify`` in the formats of CI servers: SARIF, annotations of GitHub, code quality of GitLab."""
