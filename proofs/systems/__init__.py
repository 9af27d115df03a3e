"""What is proved or read of single systems, one folder each; nothing outside names one."""
