'use strict'

// The app.js of `pm2 start app.js -i 1`: the contender KEY of the table CONTENDER, listening on PORT as apps do.
const { CONTENDER, KEY, PORT } = process.env
require(CONTENDER)[KEY].start(['pm2']).listen(Number(PORT), '127.0.0.1')
