/* A source that includes no generated header: no change of the config compiles it again. */
int plain(void);

int plain(void) { return 0; }
