'use strict'

const upload = require('kone/middleware/upload')
const { SIZES } = require('./values')

module.exports = {
  make: options => upload(options),
  options: {
    dest: [5, '', '/nowhere/at/all'],
    limits: [5, []],
    'limits.fileSize': SIZES,
    'limits.files': ['3', -1, 0.5],
    'limits.fields': ['3', -1, 0.5],
    'limits.fieldSize': SIZES,
    fields: [5, {}, ['avatar'], [{}], [{ name: '' }], [{ name: 'a', maxCount: -1 }], [{ name: 'a', maxcount: 1 }]],
    filter: [5, true],
    storage: [5, {}, { _handleFile () {} }],
    fileFilter: [() => true],
    preservePath: [true]
  }
}
