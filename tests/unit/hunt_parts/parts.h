/* What the parts of hunt_program_test.c call in one another. */
int start(int x);
int back(int x);
int both(int x);
int late(int x);
