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
    storage: [{}], // of multer
    fileFilter: [() => true],
    preservePath: [true]
  }
}
