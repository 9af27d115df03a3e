"""Raft's leader election and log replication, and the traces of etcd's implementation."""
