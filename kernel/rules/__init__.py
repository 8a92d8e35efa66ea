"""What contradicts what, who may say what, and what is proposed: the rules of `m:rules`."""
