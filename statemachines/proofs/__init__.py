"""What must hold in every machine: each module proves one kind of property, knowing nothing of the compiler."""
