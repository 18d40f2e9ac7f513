'use strict'

const Toa = require('toa')
const serve = require('../../../lib/servers/serve')

// toa runs its middleware one after the other; there is no onion and no next.
const app = new Toa()
for (let i = 0; i < 5; i++) app.use(async function () {})
app.use(async function () { this.body = 'Hello World' })

serve(app)
