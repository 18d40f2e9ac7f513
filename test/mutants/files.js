'use strict'

/** File → the tests that run for each of its mutants: fast ones, the most likely killer first. */
module.exports = {
  'lib/compose.js': ['test/compose/compose.test.js', 'test/application/compose-option.test.js'],
  'lib/respond.js': [
    'test/application/respond.test.js', 'test/context/respond.test.js', 'test/response/body.test.js',
    'test/response/length.test.js', 'test/response/web-bodies.test.js'
  ],
  'lib/http1/input/parser.js': ['test/http1/parser.test.js'],
  'lib/http1/output/pieces.js': ['test/http1/pieces.test.js'],
  'lib/http1/output/names.js': ['test/http1/fields.test.js'],
  'lib/http1/output/writer.js': ['test/http1/fields.test.js']
}
