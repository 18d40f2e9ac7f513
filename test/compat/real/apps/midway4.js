'use strict'

// The project of ./midway on Midway 4, which is on Koa 3.

module.exports = {
  ...require('./midway'),
  title: 'Midway 4 on Koa 3, controllers and services',
  koa: 3,
  group: 'midway4',
  packages: {
    '@midwayjs/koa': '4.0.0',
    '@midwayjs/core': '4.0.0',
    '@midwayjs/bootstrap': '4.2.3',
    '@midwayjs/logger': '4.0.1',
    'reflect-metadata': '0.2.2'
  }
}
