"""The audit: everything that a base holds, worked out anew from its stored bytes."""
