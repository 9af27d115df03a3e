"""The systems that the project itself models, one folder each; nothing outside names one."""
