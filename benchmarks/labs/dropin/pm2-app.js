'use strict'

// The app.js of `pm2 start app.js -i 1`: the contender that CONTENDER names, listening on PORT as apps do.
const { CONTENDER, PORT } = process.env
require(CONTENDER).start(['pm2']).listen(Number(PORT), '127.0.0.1')
