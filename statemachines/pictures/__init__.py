"""A machine as a picture, for people: the same states and ways as in its definition, and nothing that is not there."""
