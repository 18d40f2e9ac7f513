'use strict'

const { Options, refused, text } = require('../../lib/shared/options')

module.exports = new Options('jsonp', {
  callbackName: text.says('name of the query parameter', { default: 'callback' }),
  domain: refused('it is for the page that koa-jsonp makes of a POST, and only GET is wrapped here')
})
