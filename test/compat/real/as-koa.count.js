'use strict'

// One byte for each app of kone that a process makes.
const { appendFileSync } = require('fs')
require('diagnostics_channel').channel('kone:application').subscribe(() => appendFileSync(process.env.KONE_MADE, '.'))
