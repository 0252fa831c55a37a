"""Where deliveries end up: tables and outboxes, staged by batch and then published."""
