'use strict'

const path = require('node:path')
const grpc = require('@grpc/grpc-js')
const loader = require('@grpc/proto-loader')

const definition = loader.loadSync(path.join(__dirname, 'calls.proto'), { oneofs: true })
module.exports = grpc.loadPackageDefinition(definition).kone.Calls.service
