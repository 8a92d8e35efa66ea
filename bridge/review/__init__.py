"""What editors read: certificates with what they would do, and what stands or is argued."""
