"""`make mutants`: every check of the kernel, taken away one at a time; the tests have to notice each."""
