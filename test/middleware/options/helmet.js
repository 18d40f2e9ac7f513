'use strict'

const helmet = require('kone/middleware/helmet')
const { BOOLEANS } = require('./values')

module.exports = {
  make: options => helmet(options),
  options: {
    contentSecurityPolicy: [5, 'none', [], { directives: { defaultSrc: 'a;b' } }, { directives: { defaultSrc: 5 } }],
    'contentSecurityPolicy.directives': [5, null],
    'contentSecurityPolicy.reportOnly': BOOLEANS,
    crossOriginEmbedderPolicy: [5, { policy: 'maybe' }],
    crossOriginOpenerPolicy: [5, { policy: 'maybe' }],
    crossOriginResourcePolicy: [5, { policy: 'maybe' }],
    originAgentCluster: [5, {}],
    referrerPolicy: [5, { policy: [] }, { policy: 'maybe' }],
    strictTransportSecurity: [5, { maxAge: -1 }, { maxAge: '1' }, { preload: 1 }],
    hsts: [5, { maxAge: -1 }],
    xContentTypeOptions: [5, {}],
    noSniff: [5, {}],
    xDnsPrefetchControl: [5, { allow: 'x' }],
    dnsPrefetchControl: [5, { allow: 'x' }],
    xDownloadOptions: [5, {}],
    ieNoOpen: [5, {}],
    xFrameOptions: [5, { action: 'maybe' }],
    frameguard: [5, { action: 'maybe' }],
    xPermittedCrossDomainPolicies: [5, { permittedPolicies: 'maybe' }],
    permittedCrossDomainPolicies: [5, { permittedPolicies: 'maybe' }],
    xPoweredBy: [5, {}],
    hidePoweredBy: [5, {}],
    xXssProtection: [5, {}],
    xssFilter: [5, {}]
  }
}
