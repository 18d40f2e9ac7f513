'use strict'

const express = require('express')
const serve = require('../../../lib/servers/serve')

const app = express()
for (let i = 0; i < 5; i++) app.use((req, res, next) => next())
app.use((req, res) => res.type('text').send('Hello World'))

serve(app)
