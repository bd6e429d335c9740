#pragma once

// Public header: programs include this file for encdec::Model.
#include "encdec/models/model/model.h"
