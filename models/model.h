#pragma once

// The name that programs include; the class stands in the folder of its target.
#include "encdec/models/model/model.h"
