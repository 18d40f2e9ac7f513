'use strict'

const bodyParser = require('kone/middleware/bodyParser')
const { BOOLEANS, FUNCTIONS, SIZES } = require('./values')

module.exports = {
  make: options => bodyParser(options),
  options: {
    enableTypes: ['json', ['yaml'], [5]],
    jsonLimit: SIZES,
    formLimit: SIZES,
    textLimit: SIZES,
    xmlLimit: SIZES,
    decoderMemory: SIZES,
    encoding: [5, '', 'nonsense', 'base64', 'utf-7'],
    strict: BOOLEANS,
    detectJSON: FUNCTIONS,
    extendTypes: [5, ['text/x'], { json: 5 }],
    onerror: FUNCTIONS,
    onError: FUNCTIONS, // of @koa/bodyparser
    jsonStrict: BOOLEANS,
    parsedMethods: ['POST', [5], null],
    patchNode: [true],
    enableRawChecking: [true],
    onProtoPoisoning: [true, 'keep'],
    queryString: [5, null],
    'queryString.allowDots': BOOLEANS,
    'queryString.arrayLimit': ['5', -1, 1001, Infinity],
    'queryString.depth': ['5', -1, NaN],
    'queryString.parameterLimit': ['5', -1],
    'queryString.comma': [true], // of qs itself
    qs: [5, {}, { parse: 'x' }]
  }
}
