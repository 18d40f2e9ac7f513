'use strict'

const { Options, Rule, fn, integer, list, refused, shape, text } = require('../../lib/shared/options')
const { size } = require('../_shared/bytes')

const count = integer({ min: 0 })

function isField (value) {
  if (typeof value?.name !== 'string' || value.name === '') return false
  const { name, maxCount = 1, ...others } = value
  // `maxcount` would limit nothing
  return Number.isInteger(maxCount) && maxCount >= 1 && Object.keys(others).length === 0
}

const isStorage = value => typeof value?._handleFile === 'function' && typeof value._removeFile === 'function'

module.exports = new Options('upload', {
  dest: text.says('existing folder that files are written to', { otherwise: "the system's temporary folder" }),
  fields: list(new Rule('', isField), "{ name, maxCount }, as multer's fields()").says(
    "`[{ name: 'avatar', maxCount: 1 }]`, as multer's `fields()`: a file in another field is a 400, more than `maxCount` of " +
    'one are a 413', { otherwise: 'any', type: 'readonly Field[]' }),
  filter: fn.says('`(ctx, { fieldname, originalname, mimetype }) => boolean`, may return a promise; called before anything of a file is written: `false` skips the file, `ctx.throw()` refuses the form', {
    otherwise: 'all files', type: '(ctx: Kone.Context, file: Candidate) => boolean | Promise<boolean>'
  }),
  storage: new Rule("an object with the functions _handleFile and _removeFile, as multer's storages are", isStorage).says(
    "instead of `dest`: `upload.memoryStorage()`, or a storage of multer's shape", { otherwise: 'files in `dest`', type: 'Storage' }),
  limits: shape({
    fileSize: size.says('the largest file', { default: '10mb' }),
    files: count.says('files of a form', { default: 20 }),
    fields: count.says('other fields of a form', { default: 100 }),
    fieldSize: size.says('the largest field; all fields together may have `fieldSize` or 1 MB, whichever is larger', { default: '1mb' })
  }).says('an object of limits', { type: 'Limits' }),
  fileFilter: refused('pass `filter: (ctx, file) => true or false`'),
  preservePath: refused('originalname is the name without a path')
})
