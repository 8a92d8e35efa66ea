"""Queries in processes of their own, each on a replica of the stores, within limits of time, memory and size."""
