/** What programs print must not depend on where the tests run: no forced colours, no width of somebody's terminal. */
for (const name of ["FORCE_COLOR", "NO_COLOR", "COLUMNS"]) delete process.env[name];
