import Application from './application.js'

export default Application
export const { HttpError, createHttpError, isHttpError, compose } = Application
