import Application from './bluebird.js'

export default Application
export const { HttpError, createHttpError, isHttpError, compose } = Application
