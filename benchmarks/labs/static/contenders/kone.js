'use strict'

const kone = require('../../../lib/servers/kone')
const serve = require('../../../lib/servers/serve')
const Kone = kone('.')
const files = kone('middleware/static')

// node kone.js ROOT memory|disk
const [, , root, where] = process.argv
const MB = 2 ** 20

const app = new Kone()
app.use(files(root, where === 'memory' ? { cacheFileSize: 2 * MB } : { cacheSize: 0 }))

serve(app)
