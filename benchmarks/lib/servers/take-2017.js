'use strict'

const path = require('path')

// A package of 2017: KONE_2017 names the folder that lib/servers/era.js installed them in. In the language of Node 6.
module.exports = name => require(path.join(process.env.KONE_2017, name))
