"""The reference implementations, one folder a system; nothing outside names one."""
